"""How weights move: Adam or Muon with their state as named tensors, clipping, and a running mean of the weights.

The learning rate is `theory.schedule`'s; here it is only applied. All state goes to and comes from a flat dictionary of
tensors, so that a checkpoint needs no pickle and a resumed run continues to the byte.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dragoman.core.config import OptimizerConfig
from dragoman.model.transformer import Transformer
from dragoman.training.gradients import Gradients
from dragoman.training.muon import Muon

ADAM_MOMENTS = ("exp_avg", "exp_avg_sq")
MOMENTS = (*ADAM_MOMENTS, "momentum")
MEAN_LAG = 9
"""After t steps a running mean is of the last t/9 of them, until that is as long as its own memory."""


class Optimizer:
    """Adam over all parameters of a model, or Muon over the matrices inside layers; matrices decay, vectors do not."""

    def __init__(self, model: Transformer, config: OptimizerConfig, multiplied_in: torch.dtype | None = None) -> None:
        self._config = config
        self._named = dict(model.named_parameters())
        chosen = config.kind_for(model.config)
        is_muons = {name: chosen == "muon" and p.dim() == 2 and "." in name for name, p in self._named.items()}
        matrices = {name: p for name, p in self._named.items() if is_muons[name]}
        self._muon = Muon(matrices, config.weight_decay, multiplied_in)
        self._adams = {name: p for name, p in self._named.items() if not is_muons[name]}
        groups = [
            {"params": [p for p in self._adams.values() if p.dim() >= 2], "weight_decay": config.weight_decay},
            {"params": [p for p in self._adams.values() if p.dim() < 2], "weight_decay": 0.0},
        ]
        kind = torch.optim.Adam if chosen == "adam" else torch.optim.AdamW
        betas = (config.beta1, config.beta2)
        self._adam = kind(groups, lr=0.0, betas=betas, eps=config.epsilon, fused=True)
        self._mean = [p.detach().clone() for p in self._named.values()] if config.average_decay else []

    def step(self, gradients: Gradients, rate: float, norm: float) -> None:
        """Move the weights along gradients whose length is `norm`, at a rate."""
        if self._config.clip_norm and norm > self._config.clip_norm:
            gradients.own.mul_(self._config.clip_norm / norm)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self._muon.step(rate)
        if self._mean:
            weights = [parameter.detach() for parameter in self._named.values()]
            torch._foreach_lerp_(self._mean, weights, 1.0 - self._decay_now())

    def _decay_now(self) -> float:
        """Of the running mean: less at first, so that it holds on neither to random weights nor to the first steps."""
        first = next(iter(self._adams.values()))
        num_steps = float(self._adam.state[first]["step"])
        return min(self._config.average_decay, num_steps / (num_steps + MEAN_LAG))

    def weights_for_inference(self) -> dict[str, Tensor]:
        """The running mean where there is one, else the weights themselves."""
        tensors = self._mean or [parameter.detach() for parameter in self._named.values()]
        return dict(zip(self._named, tensors, strict=True))

    @contextmanager
    @torch.no_grad()
    def inference_weights_in(self, model: nn.Module) -> Iterator[None]:
        """Let the model have the weights for inference for a while."""
        if not self._mean:
            yield
            return
        own = [parameter.detach().clone() for parameter in self._named.values()]
        for parameter, mean in zip(self._named.values(), self._mean, strict=True):
            parameter.copy_(mean)
        try:
            yield
        finally:
            for parameter, before in zip(self._named.values(), own, strict=True):
                parameter.copy_(before)

    def state(self) -> dict[str, Tensor]:
        """Everything that a resumed run needs beside the weights for inference."""
        tensors = {
            f"{moment}.{name}": self._adam.state[parameter][moment]
            for name, parameter in self._adams.items()
            for moment in ADAM_MOMENTS
            if parameter in self._adam.state
        }
        if tensors:
            first = next(iter(self._adams.values()))
            tensors["step"] = self._adam.state[first]["step"].reshape(1)
            tensors |= {f"momentum.{name}": momentum for name, momentum in self._muon.momenta.items()}
        if self._mean:
            tensors |= {f"weights.{name}": parameter.detach() for name, parameter in self._named.items()}
        return tensors

    @torch.no_grad()
    def load(self, inference: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
        """Go back to where `weights_for_inference` and `state` were taken."""
        for name, mean in zip(self._named, self._mean, strict=False):
            mean.copy_(inference[name])
        for name, parameter in self._named.items():
            parameter.copy_(state.get(f"weights.{name}", inference[name]))
        for name, momentum in self._muon.momenta.items():
            saved = state.get(f"momentum.{name}")
            _ = momentum.zero_() if saved is None else momentum.copy_(saved)
        for name, parameter in self._adams.items():
            if "step" in state:
                self._adam.state[parameter] = {
                    "step": state["step"].clone().reshape(()),
                    **{moment: state[f"{moment}.{name}"].to(parameter.device).clone() for moment in ADAM_MOMENTS},
                }
            else:
                self._adam.state.pop(parameter, None)
